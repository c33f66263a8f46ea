/* SPDX-License-Identifier: MIT */
/*
 * The calendar is reckoned here and not by gmtime_r(): that one takes a lock and reads /etc/localtime, and a report
 * has a million times in it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/time_text.h"

#define SECONDS_PER_DAY 86400
#define DAYS_PER_ERA 146097        /* 400 years of the Gregorian calendar */
#define DAYS_TO_1970 719468        /* from the 1st of March of the year 0 */
#define LAST_SECOND 253402300799LL /* 9999-12-31T23:59:59Z */

static const int64_t days_before[12] = {306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275};

/* Days since 1970. Years begin in March here, so that the leap day is the last of its year. */
static int64_t days_of(int year, int month, int day) {
        int64_t y = year - (month <= 2);

        return 365 * y + y / 4 - y / 100 + y / 400 + days_before[month - 1] + day - 1 -
                DAYS_TO_1970;
}

static bool is_leap(int year) {
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in(int year, int month) {
        static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

        return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

static void date_of(int64_t days, int *ret_year, int *ret_month, int *ret_day) {
        int64_t since = days + DAYS_TO_1970;
        int64_t era = since / DAYS_PER_ERA, day = since % DAYS_PER_ERA;
        int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
        int month;

        day -= 365 * year + year / 4 - year / 100;
        month = (int) ((5 * day + 2) / 153); /* 0 is March */
        month = month < 10 ? month + 3 : month - 9;
        *ret_month = month;
        *ret_day = (int) (day - days_before[month - 1]) + 1;
        *ret_year = (int) (year + era * 400) + (month <= 2);
}

char *time_to_text(usec_t t, char buffer[static TIME_TEXT_MAX]) {
        uint64_t seconds = t / USEC_PER_SEC, fraction = t % USEC_PER_SEC;
        int year, month, day;
        unsigned second;

        if (seconds > LAST_SECOND) {
                seconds = LAST_SECOND;
                fraction = USEC_PER_SEC - 1;
        }
        date_of((int64_t) (seconds / SECONDS_PER_DAY), &year, &month, &day);
        second = (unsigned) (seconds % SECONDS_PER_DAY);
        (void) snprintf(buffer, TIME_TEXT_MAX, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ",
                        (unsigned) year % 10000, (unsigned) month % 100, (unsigned) day % 100,
                        second / 3600, second / 60 % 60, second % 60, (unsigned) fraction);
        return buffer;
}

static bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

/* Exactly n digits; moves *s behind them. */
static bool take_digits(const char **s, int n, int *ret) {
        int value = 0;

        for (int i = 0; i < n; i++, (*s)++) {
                if (!is_digit(**s))
                        return false;
                value = 10 * value + (**s - '0');
        }
        *ret = value;
        return true;
}

static bool take_one_of(const char **s, const char *set) {
        if (**s == 0 || !strchr(set, **s))
                return false;
        (*s)++;
        return true;
}

static bool take_date(const char **s, int64_t *ret_days) {
        int year, month, day;

        if (!take_digits(s, 4, &year) || !take_one_of(s, "-") || !take_digits(s, 2, &month) ||
            !take_one_of(s, "-") || !take_digits(s, 2, &day))
                return false;
        if (month < 1 || month > 12 || day < 1 || day > days_in(year, month))
                return false;
        *ret_days = days_of(year, month, day);
        return true;
}

static bool take_clock(const char **s, int64_t *ret_seconds, uint64_t *ret_usec) {
        int hour, minute, second;
        uint64_t usec = 0, unit = USEC_PER_SEC;

        if (!take_digits(s, 2, &hour) || !take_one_of(s, ":") || !take_digits(s, 2, &minute) ||
            !take_one_of(s, ":") || !take_digits(s, 2, &second))
                return false;
        if (hour > 23 || minute > 59 || second > 60)
                return false;
        if (take_one_of(s, ".")) {
                if (!is_digit(**s))
                        return false;
                for (; is_digit(**s); (*s)++) {
                        unit /= 10;
                        usec += unit * (uint64_t) (**s - '0');
                }
        }
        *ret_seconds = hour * 3600 + minute * 60 + second;
        *ret_usec = usec;
        return true;
}

static bool take_offset(const char **s, int64_t *ret_seconds) {
        int hour, minute;
        bool west = **s == '-';

        if (take_one_of(s, "Zz")) {
                *ret_seconds = 0;
                return true;
        }
        if (!take_one_of(s, "+-") || !take_digits(s, 2, &hour) || !take_one_of(s, ":") ||
            !take_digits(s, 2, &minute) || hour > 23 || minute > 59)
                return false;
        *ret_seconds = (hour * 3600 + minute * 60) * (west ? -1 : 1);
        return true;
}

int time_from_text(const char *s, usec_t *ret) {
        int64_t days, seconds, offset;
        uint64_t usec;

        if (!s || !take_date(&s, &days) || !take_one_of(&s, "Tt ") ||
            !take_clock(&s, &seconds, &usec) || !take_offset(&s, &offset) || *s)
                return -EINVAL;
        seconds += days * SECONDS_PER_DAY - offset;
        if (seconds < 0 || seconds > LAST_SECOND)
                return -EINVAL;
        *ret = (usec_t) seconds * USEC_PER_SEC + usec;
        return 0;
}
