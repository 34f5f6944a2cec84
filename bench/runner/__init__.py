# SPDX-License-Identifier: BSD-3-Clause
"""The measuring side of bench\/run; what it measures is told in bench\/README.md."""
