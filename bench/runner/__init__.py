# SPDX-License-Identifier: BSD-3-Clause
"""Runs the measurements of bench/run, which bench/README.md describes."""
