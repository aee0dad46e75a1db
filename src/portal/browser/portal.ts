import { enableCopying } from './copy.js'
import { startDatasetPage } from './dataset/dataset-page.js'
import { searchColumns } from './question/columns.js'
import { startReference } from './reference-view.js'
import { startUsage } from './usage-view.js'

enableCopying(document)
searchColumns()
startReference()
const explorer = document.getElementById('explorer-app')
if (explorer) startDatasetPage(explorer)
const usage = document.getElementById('usage-app')
if (usage) startUsage(usage)
