import './page.js'
import { startDatasetPage } from './dataset/dataset-page.js'
import { searchColumns } from './question/columns.js'
import { showTotals } from './order-total.js'
import { startAccount } from './account/account-page.js'

searchColumns()
const explorer = document.getElementById('explorer-app')
if (explorer) startDatasetPage(explorer)
const account = document.getElementById('account-app')
if (account) startAccount(account)
const total = document.getElementById('order-total')
if (total) showTotals(total)
