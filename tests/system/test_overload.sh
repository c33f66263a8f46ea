#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A short overload.sh; the full one is `bash tests/system/overload.sh 20000`.
MW_OVERLOAD=${MW_OVERLOAD:-2000} exec bash "$(dirname "$0")/overload.sh"
