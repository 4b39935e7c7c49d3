"""Checks which wheels and which of their files are taken. Started by download.rs."""

import unittest

from libtorch import needed_files, place_of
from wheels import Links, wheel_pattern, wheels_for

LINUX, ARM, MAC, WINDOWS = "linux-x86_64", "linux-aarch64", "macos-aarch64", "windows-x86_64"


class Selection(unittest.TestCase):
    def test_only_wheels_of_this_version_and_platform_fit(self):
        torch = wheel_pattern("torch", r"2\.13\.0", LINUX)
        self.assertTrue(torch.fullmatch("torch-2.13.0-cp314-cp314-manylinux_2_28_x86_64.whl"))
        for other in ["2.13.0-cp313-cp313t-manylinux_2_28_x86_64", "2.13.0-cp311-cp311-win_amd64",
                      "2.13.1-cp311-cp311-manylinux_2_28_x86_64",
                      "2.13.0-cp311-cp311-manylinux_2_28_aarch64"]:
            self.assertFalse(torch.fullmatch(f"torch-{other}.whl"), other)
        mac = wheel_pattern("torch", r"2\.13\.0", MAC)
        self.assertTrue(mac.fullmatch("torch-2.13.0-cp311-none-macosx_11_0_arm64.whl"))
        runtime = wheel_pattern("nvidia-cuda-runtime", r"13\.0\.\d+", LINUX)
        self.assertTrue(runtime.fullmatch("nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_"
                                          "x86_64.manylinux_2_17_x86_64.whl"))

    def test_cuda_is_taken_only_where_the_wheel_needs_it(self):
        self.assertEqual(len(wheels_for(LINUX)), 3)
        for platform in [ARM, MAC, WINDOWS]:
            self.assertEqual([name for name, _, _ in wheels_for(platform)], ["torch"])

    def test_files_go_where_torch_sys_looks(self):
        self.assertEqual(place_of("torch/include/ATen/ATen.h", LINUX), "include/ATen/ATen.h")
        self.assertEqual(place_of("torch/lib/libgomp-a34b.so.1", LINUX), "lib/libgomp-a34b.so.1")
        self.assertEqual(place_of("nvidia/cu13/lib/libcudart.so.13", LINUX), "lib/libcudart.so.13")
        self.assertEqual(place_of("torch/lib/libtorch_cpu.dylib", MAC), "lib/libtorch_cpu.dylib")
        self.assertEqual(place_of("torch/lib/c10.lib", WINDOWS), "lib/c10.lib")
        self.assertEqual(place_of("torch/lib/asmjit.dll", WINDOWS), "lib/asmjit.dll")

    def test_files_unneeded_by_rust_are_skipped(self):
        for name in ["torch/lib/libtorch_cuda.so", "torch/lib/libtorch_python.so",
                     "torch/lib/libshm/libshm.h", "torch/__init__.py", "torch/bin/protoc",
                     "nvidia/cu13/lib/libcheckpoint.so", "torch/include/", "../torch/lib/libc10.so",
                     "torch/include/../../x"]:
            self.assertIsNone(place_of(name, LINUX), name)
        self.assertIsNone(place_of("torch/lib/torch_python.dll", WINDOWS))
        self.assertIsNone(place_of("torch/lib/libshm.dylib", MAC))

    def test_needed_files_depend_on_the_platform(self):
        self.assertIn("lib/libcupti.so.13", needed_files(LINUX))
        self.assertNotIn("lib/libcupti.so.13", needed_files(ARM))
        self.assertIn("lib/libtorch_cpu.dylib", needed_files(MAC))

    def test_html_index_pages_are_parsed(self):
        page = ('<a href="../f/a%2Bcpu.whl#sha256=00ff">a</a><a href="b.whl">b</a>'
                '<a href="c.whl#sha256=1" data-yanked="">c</a>')
        self.assertEqual(Links(page).files,
                         [("a+cpu.whl", "../f/a%2Bcpu.whl", "00ff"), ("b.whl", "b.whl", None)])


unittest.main()
