/* SPDX-License-Identifier: Apache-2.0 */
/* Options about engines; see engine_options.h. */
#include "cli/engine_options.h"

const char *tms_word_engine(size_t index)
{
    if (index == 0) {
        return "all";
    }
    const struct tms_engine_info *engine = tms_engine_info(index - 1);
    return engine != NULL ? engine->name : NULL;
}

void tms_engine_settings(const struct tms_engine_options *options, struct tms_settings *settings)
{
    settings->blame = options->blame;
    settings->all = options->all;
    settings->max_violations = options->max_violations;
    settings->parallel = true;
}

/* Engines that the user names are shown with all their findings. */
void tms_engine_report_settings(const struct tms_engine_options *options,
                                const struct tms_predicting *predicting,
                                struct tms_report_settings *settings)
{
    settings->stats = options->stats;
    settings->potential = predicting->potential || options->engine_given;
}
