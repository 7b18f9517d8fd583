SET spark.sql.shuffle.partitions = 4;
CREATE TABLE events (ts TIMESTAMP, k STRING COMMENT 'it''s', v DECIMAL(10, 2), s STRUCT<a: ARRAY<INT>>) USING json OPTIONS (path 'in', maxFilesPerTrigger 1);
CREATE STREAMING TABLE counts USING json TBLPROPERTIES ('outputMode' = 'append') OPTIONS (path 'out') AS
SELECT window(ts, '10 seconds') AS w, k, count(*) AS c, sum(v) FILTER (WHERE v > 1.5e3) AS s
FROM STREAM events WITH ('a' = 'b') IDENTIFIED BY src WATERMARK ts DELAY OF INTERVAL 1 HOUR 30 MINUTES AS e
WHERE k NOT IN ('a', r'b\c') AND v BETWEEN -1 AND 7BD GROUP BY window(ts, '10 seconds'), k HAVING count(*) > 1;
