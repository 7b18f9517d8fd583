-- Clicks a minute on each page, over the last five minutes. Run it from here: tidemill run examples/clicks.sql
--
-- A bare query shows its rows on the terminal and forgets its state at the end.
SET spark.sql.session.timeZone = UTC;

CREATE TEMPORARY VIEW clicks (at TIMESTAMP, page STRING, user BIGINT) USING json OPTIONS (path 'data/clicks');

SELECT window.start, window.end, page, count(*) AS clicks, count(user) AS by_users
FROM STREAM clicks WATERMARK at DELAY OF INTERVAL 1 MINUTE
WHERE page <> '/health'
GROUP BY window(at, '5 minutes', '1 minute'), page;
