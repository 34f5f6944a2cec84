# SPDX-License-Identifier: BSD-3-Clause
windrow_python_test(regression.environment_names environment_names_test.py)
