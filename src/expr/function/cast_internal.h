#pragma once

#include <string>

#include "expr/function/registry_internal.h"

namespace tidemill::expr {

/// A cast under compilation.
struct CastPlan {
  type::TypePtr from;
  type::TypePtr to;
  bool ansi = true;
  bool fails = true;   ///< what cannot be converted is an error
  bool nulls = false;  ///< try_cast: it is null (outside ANSI mode numbers wrap instead)
  std::string time_zone;
};

Result<Kernel> CompileCastFromString(const CastPlan& plan);
/// Between timestamps, dates and numbers.
Result<Kernel> CompileTimeCast(const CastPlan& plan);
/// CAST_INVALID_INPUT; `shown` as it stands in a query ('abc').
Error CastInvalidInput(const CastPlan& plan, const std::string& shown);
Error UnsupportedCast(const CastPlan& plan);

}  // namespace tidemill::expr
