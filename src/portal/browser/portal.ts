import { enableCopying } from './copy.js'
import { searchColumns } from './explorer/columns.js'
import { startExplorer } from './explorer/explorer.js'
import { startUsage } from './usage-view.js'

enableCopying(document)
searchColumns()
const explorer = document.getElementById('explorer-app')
if (explorer) startExplorer(explorer)
const usage = document.getElementById('usage-app')
if (usage) startUsage(usage)
