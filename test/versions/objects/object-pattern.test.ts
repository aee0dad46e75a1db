import t from 'tap'
import { parseObjectPattern } from '../../../src/versions/objects/object-pattern.js'
import { FileError } from '../../../src/versions/opener.js'

await t.test('a pattern names a bucket, what to list, and what of it', (t) => {
  for (const [pattern, prefix, inside, outside] of [
    ['s3://data/a.parquet', 'a.parquet', 'a.parquet', 'a.parquet2'],
    ['s3://data/*.parquet', '', 'a.parquet', 'sub/a.parquet'],
    ['s3://data/fin/20*.parquet', 'fin/20', 'fin/2024.parquet', 'fin/20/24.parquet'],
    ['s3://data/**/*.parquet', '', 'year=2024/x/a.parquet', 'a.csv'],
    ['s3://data/fin/*', 'fin/', 'fin/a', 'fin/sub/'],
    ['s3://data/{a,b}/*.parquet', '', 'b/1.parquet', 'c/1.parquet'],
    ['s3://data/a[1].parquet', 'a', 'a[1].parquet', 'a2.parquet'],
    ['s3://data/!a.parquet', '', '!a.parquet', 'b.parquet'],
    ['s3://data/_raw/**/*.parquet', '_raw/', '_raw/_day=1/a.parquet', '_raw/_temporary/a.parquet'],
    ['s3://data/**/*.parquet', '', 'a/b.parquet', 'a/_b.parquet'],
    ['s3://data/_a.parquet', '_a.parquet', '_a.parquet', 'a.parquet'],
    ['s3://data/Выручка *.parquet', 'Выручка ', 'Выручка 2024.parquet', 'выручка 2024.parquet'],
  ] as const) {
    const found = parseObjectPattern(pattern)
    t.equal(found.bucket, 'data')
    t.equal(found.prefix, prefix, pattern)
    t.ok(inside.startsWith(prefix))
    t.ok(found.matches(inside), `${pattern} ${inside}`)
    t.notOk(found.matches(outside), `${pattern} ${outside}`)
  }
  t.end()
})

await t.test('a pattern without a bucket or an object is refused with what to write', (t) => {
  for (const [pattern, reason] of [
    ['s3://', /bucket/],
    ['s3:///a.parquet', /bucket/],
    ['s3://Data/a.parquet', /bucket/],
    ['s3://data', /no object: add \/\*\.parquet/],
    ['s3://data/', /no object/],
    ['s3://data/fin/', /folder: add \*\.parquet/],
  ] as const) {
    try {
      parseObjectPattern(pattern)
      t.fail(pattern)
    } catch (cause) {
      t.ok(cause instanceof FileError && cause.path === pattern)
      t.match((cause as FileError).reason, reason)
    }
  }
  t.end()
})
