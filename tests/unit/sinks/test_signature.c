/* SPDX-License-Identifier: MIT */
#include "daemon/sinks/signature.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define SIGNATURE "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

/* libraries/python/tests/test_webhooks.py of standard-webhooks */
static void signs_as_the_specification_does(void **state) {
        static const char body[] = "{\"test\": 2432232314}";
        char *signature;

        assert_int_equal(signature_make(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body,
                                        strlen(body), &signature),
                         0);
        assert_string_equal(signature, SIGNATURE);
        free(signature);
        assert_int_equal(signature_make(SECRET "\n" SECRET "\n", "msg_p5jXN8AQM9LWM0D4loKWxJek",
                                        1614265330, body, strlen(body), &signature),
                         0);
        assert_string_equal(signature, SIGNATURE " " SIGNATURE);
        free(signature);
}

static void takes_only_secrets_of_that_form(void **state) {
        static const char *const bad[] = {
                "",
                "\n",
                "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "whsec_",
                "whsec_c2hvcnQ=",
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
                "whsec_!fKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                SECRET " other",
                SECRET "\n" SECRET "\n" SECRET "\n" SECRET "\n" SECRET,
                /* 65 bytes */
                "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                "AAAA=",
        };
        char *signature;

        assert_int_equal(signature_check_secrets(SECRET "\n"), 0);
        assert_int_equal(signature_check_secrets(" " SECRET "\r\n" SECRET), 0);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_int_equal(signature_check_secrets(bad[i]), -EINVAL);
        assert_int_equal(signature_make("", "id", 1, "", 0, &signature), -EINVAL);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(signs_as_the_specification_does),
                cmocka_unit_test(takes_only_secrets_of_that_form),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
