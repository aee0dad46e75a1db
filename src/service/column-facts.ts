import type { Access } from '../access/access.js'
import type { CodeNames } from '../columns/codes.js'
import { exactJsonText } from '../query/exact-json.js'
import type { SchemaQuestion } from '../query/parse-schema-url.js'
import { labelsIn } from '../query/summary/read-groups.js'
import type { ColumnStatistics, DatasetDescription } from './answer-schemas.js'
import type { DatasetGuide } from './guides.js'

/** Adds the facts of a guide to a description of the same access. */
export function withFacts(
  access: Access,
  description: DatasetDescription,
  guide: Pick<DatasetGuide, 'columns' | 'profiled_rows' | 'caution'>,
  language: SchemaQuestion['labels'],
): DatasetDescription {
  const described = guide.columns.map(({ common, ...column }, at) => {
    const labels = access.columns[at]?.labels
    const names = labels ? labelsIn(labels, language) : null
    return { ...column, ...(common && { common: common.map((each) => labelled(each, names)) }) }
  })
  const { profiled_rows: rows, caution } = guide
  const facts = { ...description, profiled_rows: rows, caution, columns: described }
  return JSON.parse(exactJsonText(facts)) as DatasetDescription
}

type CommonValue = NonNullable<ColumnStatistics['common']>[number]

/** With the name of a code that has one. */
function labelled(common: CommonValue, names: CodeNames | null): CommonValue {
  // Codes are texts or whole numbers, whose written form is the code.
  const code = exactJsonText(common.value).replaceAll('"', '')
  const label = names?.names.get(code)
  return label === undefined ? common : { ...common, label }
}
