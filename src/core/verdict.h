#pragma once

// Verdicts are what users of the Producer see, too.
#include "outrider/verdict.h"
