/** The step of the schema for the versions of datasets, in the order of their publication. */
export function versionsTable(integer: string, text: string, end: string): string {
  return `
  CREATE TABLE dataset_versions (
    dataset ${text} NOT NULL,
    number ${integer} NOT NULL,
    version ${text} NOT NULL,
    -- The version that it replaced; NULL for the first one.
    previous ${text},
    as_of ${text},
    rows ${integer} NOT NULL,
    published_at ${integer} NOT NULL,
    PRIMARY KEY (dataset, number)
  ) ${end};
  `
}
