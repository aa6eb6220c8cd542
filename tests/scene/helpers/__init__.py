# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scene tests share: models made of our own dataclasses, and a hand to import, edit and export them."""
