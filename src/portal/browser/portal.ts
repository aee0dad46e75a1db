import { searchColumns } from './columns.js'
import { enableCopying } from './copy.js'
import { startExplorer } from './explorer.js'
import { startUsage } from './usage.js'

enableCopying(document)
searchColumns()
const explorer = document.getElementById('explorer-app')
if (explorer) startExplorer(explorer)
const usage = document.getElementById('usage-app')
if (usage) startUsage(usage)
