"""What is read of recordings, and the package itself."""

import ast
import csv
import os
import pathlib
import subprocess
import sys
import unittest

import loadscope
from support import Program

PACKAGE = pathlib.Path(loadscope.__file__).parent


class Results(Program):
    def setUp(self):
        super().setUp()
        self.run_program(
            """
            import loadscope
            class Odd(Slow):
                def __getitem__(self, index):
                    if index == 13:
                        raise ValueError("'=1+1 is no number")
                    return super().__getitem__(index)
            with loadscope.record("run.jsonl.zst"):
                count(DataLoader(Slow(), batch_size=4, num_workers=2))
                try:
                    count(DataLoader(Odd(), batch_size=4))
                except ValueError:
                    pass
            """
        )
        self.path = self.file("run.jsonl.zst")

    def test_tables_equal_the_report(self):
        import numpy

        tables, report = loadscope.read(self.path), loadscope.report(self.path, loader="0")
        self.assertEqual(report["loader"]["number"], 0)
        own = tables.batches["run"] == 0
        self.assertEqual(own.sum(), report["summary"]["batches"])
        waits = tables.waits["run"] == 0
        self.assertAlmostEqual(tables.waits["waited_ns"][waits].sum() * 1e-9, report["waited_seconds"], places=9)
        at = list(tables.loaders["run"]).index(0)
        self.assertAlmostEqual(tables.loaders["run_ns"][at] * 1e-9, report["run_seconds"], places=9)
        self.assertEqual(sorted(tables.samples["sample"][tables.samples["run"] == 0]), list(range(24)))
        self.assertEqual(tables.batches["batch"].dtype, numpy.int64)
        self.assertEqual(tables.batches["was_held"].dtype, bool)
        self.assertEqual(tables.batches["pinning_ns"].dtype, numpy.float64)
        self.assertTrue(numpy.isnan(tables.batches["pinning_ns"]).all())
        self.assertEqual(loadscope.verdict(self.path, loader="0"), report["verdict"]["text"])
        one = loadscope.read(self.path, loader="1")
        self.assertEqual(set(one.batches["run"]), {1})

    def test_error_texts_are_exact(self):
        errors = loadscope.read(self.path).errors
        at = list(errors["severity"]).index("error")
        self.assertIn("'=1+1 is no number", errors["text"][at])
        self.assertEqual((errors["run"][at], errors["batch"][at]), (1, 3))

    def test_csv_and_parquet_have_equal_values(self):
        try:
            import pyarrow.parquet
        except ImportError:
            self.skipTest("pyarrow is not there")
        import numpy

        out = self.file("tables")
        subprocess.run([loadscope.binary(), "export", self.path, "--to", "parquet", "-o", out], check=True, stdout=subprocess.DEVNULL)
        tables = loadscope.read(self.path)
        for name in ("batches", "samples", "waits", "gauges", "loaders", "errors", "stacks"):
            ours, other = getattr(tables, name), pyarrow.parquet.read_table(os.path.join(out, name + ".parquet"))
            self.assertEqual(list(ours), other.column_names)
            for column in other.column_names:
                theirs = other.column(column).to_pylist()
                mine = ours[column].tolist()
                self.assertEqual(len(mine), len(theirs))
                for a, b in zip(mine, theirs):
                    is_missing = b is None and (a is None or numpy.isnan(a))
                    self.assertTrue(is_missing or a == b, (name, column, a, b))

    def test_tables_become_pandas_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not there")
        frames = loadscope.read(self.path).pandas()
        self.assertEqual(len(frames["batches"]), 10)
        self.assertEqual(frames["samples"]["sample"].max(), 23)

    def test_a_missing_file_is_an_error(self):
        for ask in (loadscope.read, loadscope.report, loadscope.show):
            with self.assertRaisesRegex(loadscope.LoadscopeError, "nothing.jsonl"):
                ask(self.file("nothing.jsonl"))

    def test_a_window_without_a_display_is_an_error(self):
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET")}
        asked = subprocess.run(
            [sys.executable, "-c", "import loadscope, sys\nloadscope.show(sys.argv[1])", self.path],
            env=environment, capture_output=True, encoding="utf-8", timeout=60,
        )  # fmt: skip
        self.assertIn("LoadscopeError", asked.stderr)
        self.assertIn("neither DISPLAY nor WAYLAND_DISPLAY is set", asked.stderr)
        self.assertIn("loadscope report", asked.stderr)
        self.assertNotIn("loadscope run", asked.stderr)

    def test_a_notebook_shows_the_report_as_markdown(self):
        run = loadscope.Recording()
        self.assertEqual(run._repr_markdown_(), "nothing was recorded: no DataLoader was iterated")
        self.assertIsNone(run._repr_html_())
        run.path = self.path
        self.assertTrue(run._repr_markdown_().startswith("**"))

    def test_a_notebook_shows_the_report_without_the_window(self):
        """A notebook stores its output, and the window has 2.75 MB."""
        run = loadscope.Recording()
        run.path = self.path
        shown = run._repr_html_()
        self.assertLess(len(shown), 200_000)
        self.assertTrue(shown.startswith('<div><iframe sandbox="" '), shown[:100])
        self.assertNotIn("script", shown)
        self.assertIn("Waits by cause", shown)

    def test_the_module_runs_the_program(self):
        for arguments, code in ((["--version"], 0), (["report", self.path, "--fail-on", "errors>0", "--loader", "1"], 1), (["open"], 2)):
            command = [sys.executable, "-m", "loadscope", *arguments]
            self.assertEqual(subprocess.run(command, capture_output=True, timeout=60).returncode, code, arguments)


class Package(unittest.TestCase):
    def test_the_package_parses_as_python_3_9(self):
        for path in PACKAGE.rglob("*.py"):
            ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))

    def test_everything_public_has_a_docstring(self):
        for name in loadscope.__all__:
            self.assertTrue(getattr(loadscope, name).__doc__, name)
        self.assertTrue((PACKAGE / "py.typed").is_file())

    def test_type_checkers_see_the_result_types(self):
        """Regression: ``read`` had a result of any type, and a decorated function had no attribute ``recording``."""
        self.assertIn("Tables", loadscope.Recording.read.__annotations__["return"])
        tree = ast.parse((PACKAGE / "_record.py").read_text(encoding="utf-8"))
        forms = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "record"]
        overloads = [form for form in forms if "overload" in [ast.unparse(one) for one in form.decorator_list]]
        self.assertEqual(len(overloads), 2)
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "Recorded"]
        fields = [ast.unparse(node) for kind in classes for node in kind.body if isinstance(node, ast.AnnAssign)]
        self.assertEqual(fields, ["recording: Optional[Recording]"])

    def test_import_loads_no_heavy_modules(self):
        ask = "import sys; before = set(sys.modules); import loadscope; print(sorted(set(sys.modules) - before))"
        said = subprocess.run([sys.executable, "-c", ask], capture_output=True, encoding="utf-8", check=True, timeout=60)
        modules = [name for name in ast.literal_eval(said.stdout) if not name.startswith("loadscope")]

        self.assertFalse({"torch", "numpy", "pandas", "subprocess"} & set(modules), modules)

    def test_columns_have_their_documented_types(self):
        """A column missing from the list of text columns would be read as numbers."""
        from loadscope import _results

        known = _results.TEXTS | _results.FLAGS | _results.FLOATS | _results.UNSIGNED
        self.assertEqual(len(known), sum(map(len, (_results.TEXTS, _results.FLAGS, _results.FLOATS, _results.UNSIGNED))))
        self.assertEqual(list(csv.reader(["a,'=b"])), [["a", "'=b"]])
        self.assertEqual(list(_results.column("text", ["'=b", "''c", "d", ""])), ["=b", "'c", "d", None])


if __name__ == "__main__":
    unittest.main()
