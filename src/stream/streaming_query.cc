#include "stream/streaming_query.h"

#include <utility>

#include "stream/running_query.h"

namespace tidemill::stream {

Result<std::unique_ptr<StreamingQuery>> StreamingQuery::Start(QueryOptions options, QueryServices services, QueryObserver observer) {
  auto query = std::make_unique<RunningQuery>(std::move(options), services, std::move(observer));
  ARROW_RETURN_NOT_OK(query->Open());
  query->Launch();
  return query;
}

}  // namespace tidemill::stream
