//! Texts of the player in both languages.

use loadscope_lessons::Language;

macro_rules! words {
    ($($name:ident: $en:literal, $zh:literal;)+) => {
        /// Text of the player.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Word {
            $(
                #[doc = $en]
                $name,
            )+
        }

        impl Word {
            /// All texts.
            #[cfg(test)]
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the text in a language.
            pub fn text(self, language: Language) -> &'static str {
                match (self, language) {
                    $(
                        (Self::$name, Language::En) => $en,
                        (Self::$name, Language::Zh) => $zh,
                    )+
                }
            }
        }
    };
}

words! {
    Lessons: "Lessons", "课程";
    Intro: "Fourteen lessons about the DataLoader, five minutes each, played on the live pipeline.", "十四节关于 DataLoader 的课，每节五分钟，直接在运行中的流水线上演示。";
    Leave: "All lessons", "所有课程";
    Close: "Close", "关闭";
    Lecture: "Lecture mode", "讲课模式";
    Next: "Next", "下一步";
    Back: "Back", "上一步";
    Skip: "Skip", "跳过";
    Answer: "Answer", "回答";
    Return: "Return to the step", "回到这一步";
    Right: "Right", "答对了";
    Wrong: "Not quite", "不完全对";
    TheAnswer: "The answer", "答案";
    ShownWith: "The window now shows the run with", "窗口现在显示的运行设置为";
    Hint: "Hint", "提示";
    Solution: "Use the solution", "使用答案";
    Simulate: "Simulate", "模拟运行";
    Run: "Run", "运行";
    Goal: "Your goal", "目标";
    Reached: "Goal reached", "目标已达到";
    NotYet: "Not reached yet", "还没有达到目标";
    Keep: "Leave these options as they are", "请不要改变这些选项";
    Preparing: "Simulating the run of this step", "正在模拟这一步的运行";
    ClickIt: "Click it in the window, or here", "请在窗口中点击，或在这里选择";
    InOrder: "Choose them in order", "请按顺序选择";
    Number: "Your number", "你的数字";
    Program: "Program", "程序";
    Printed: "Printed by PyTorch 2.13", "PyTorch 2.13 的输出";
    Copy: "Copy", "复制";
    Finished: "Lesson finished", "本课已学完";
    RightAnswers: "right answers", "个问题答对";
    NextLesson: "Next lesson", "下一课";
    Done: "done", "已完成";
    Step: "step", "步骤";
    TaughtIn: "Taught in lesson", "见课程";
    Quiz: "Quiz", "测验";
    QuizAbout: "20 questions over all lessons, drawn by a seed. Wrong answers are explained at the end.", "20 个问题，按种子从所有课程中抽取。最后会解释答错的问题。";
    StartQuiz: "Start the quiz", "开始测验";
    LastQuiz: "Last result", "上次结果";
    Question: "Question", "问题";
    YourResult: "Your result", "你的结果";
    Skipped: "Skipped", "已跳过";
    AllRight: "All answers are right.", "全部答对。";
    Cases: "Detective cases", "侦探案例";
    CasesAbout: "Twelve runs with a hidden cause. Find it without the diagnosis, and choose what helps.", "十二次运行，各有隐藏的原因。不看诊断，找出原因，并选择有用的办法。";
    Case: "Case", "案例";
    OtherCases: "Twelve others", "换十二个";
    NextCase: "Next case", "下一个案例";
    MakingCase: "Making the case", "正在生成案例";
    WhatIsWrong: "What is wrong with this run?", "这次运行有什么问题？";
    WhatHelps: "What helps?", "什么办法有用？";
    Judge: "Judge", "提交判断";
    Cause: "Cause", "原因";
    Best: "Best remedy", "最好的办法";
    Score: "Score", "得分";
    Before: "before", "之前";
    After: "after", "之后";
    Forecast: "forecast", "预测";
    Pick: "choose", "选择";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_all_words() {
        for word in Word::ALL {
            let [en, zh] = Language::ALL.map(|language| word.text(language));
            assert!(!en.is_empty() && !zh.is_empty(), "{word:?}");
            assert!(en.is_ascii(), "{en}");
        }
    }
}
