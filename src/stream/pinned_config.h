#pragma once

// The configuration that a checkpoint pins for its life: recorded in every offset entry, stronger than the session on restart. Source: Spark OffsetSeqMetadata.

#include <map>
#include <string>
#include <vector>

#include "base/config.h"

namespace tidemill::stream {

using RecordedConf = std::map<std::string, std::string>;

/// What a new query records: the keys of the Spark release named by tidemill.compat.sparkVersion (3.5, the default: nine, so that every later
/// release can continue; 4.0 and 4.1: 11; 4.2: 15; 4.3: 17), with the session's values. Its configuration is PinConf() of that from the first run on,
/// so that the first run and the later ones agree.
RecordedConf RecordConf(const Config& session);

struct PinnedConfig {
  Config config;                      ///< the session with every recorded key as recorded, absent ones as an older writer meant them
  RecordedConf recorded;              ///< to be written on: all that was found, unknown keys too, and the nine keys where they lacked
  std::vector<std::string> warnings;  ///< one line for each value of the session that lost against the checkpoint
};

/// The configuration of a query that goes on from an offset entry with `recorded`. Errors: a recorded value that does not parse.
Result<PinnedConfig> PinConf(const Config& session, const RecordedConf& recorded);

}  // namespace tidemill::stream
