import './page.js'
import { startDatasetPage } from './dataset/dataset-page.js'
import { searchColumns } from './question/columns.js'

searchColumns()
const explorer = document.getElementById('explorer-app')
if (explorer) startDatasetPage(explorer)
