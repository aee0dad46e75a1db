import './page.js'
import { startDatasetPage } from './dataset/dataset-page.js'
import { searchColumns } from './question/columns.js'
import { startAccount } from './account/account-page.js'

searchColumns()
const explorer = document.getElementById('explorer-app')
if (explorer) startDatasetPage(explorer)
const account = document.getElementById('account-app')
if (account) startAccount(account)
