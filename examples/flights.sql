-- Delays of the flights out of New York, per airport and hour. `make demo` runs this job.
--
--   scripts/fetch-flights /tmp/demo/flights      a file of events a day
--   cp examples/flights.sql /tmp/demo && tidemill run /tmp/demo/flights.sql --progress plain
--
-- The times are New York's own, taken as they are.
SET spark.sql.session.timeZone = UTC;
SET spark.sql.shuffle.partitions = 4;

CREATE TABLE flights (
  departure TIMESTAMP,   -- when it was to leave
  origin STRING,
  carrier STRING,
  flight INT,
  dest STRING,
  delay INT              -- minutes, below zero: early; null: it never left
) USING json OPTIONS (path 'flights', maxFilesPerTrigger 7);

-- An hour is written once, when no flight of it can come any more: two hours after it ended, by the clock of the events.
CREATE STREAMING TABLE delays USING json OPTIONS (path 'delays', outputMode 'append') AS
SELECT origin, window.start AS hour, count(*) AS flights, count(delay) AS departed, avg(delay) AS mean_delay, max(delay) AS worst_delay
FROM STREAM flights WATERMARK departure DELAY OF INTERVAL 2 HOURS
GROUP BY origin, window(departure, '1 hour');
