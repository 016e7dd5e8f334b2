#include "symbols/slide.h"
