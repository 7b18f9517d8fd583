-- Two steps: clean the clicks into a table, then count from that table. State and results lie beside this file.
SET spark.sql.session.timeZone = UTC;

CREATE TABLE clicks (at TIMESTAMP, page STRING, user BIGINT) USING json OPTIONS (path 'data/clicks');

CREATE STREAMING TABLE visits USING json OPTIONS (path 'out/visits') AS
SELECT at, lower(page) AS page, user FROM STREAM clicks WHERE user IS NOT NULL;

CREATE STREAMING TABLE visitors USING json OPTIONS (path 'out/visitors') AS
SELECT window.start AS minute, page, count(*) AS visits, min(user) AS lowest, max(user) AS highest
FROM STREAM visits WATERMARK at DELAY OF INTERVAL 10 SECONDS
GROUP BY window(at, '1 minute'), page;
