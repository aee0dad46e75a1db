import './page.js'
import { startDatasetPage } from './dataset/dataset-page.js'
import { showTotals } from './order-total.js'
import { openOwnerOrder } from './owner-order.js'
import { searchColumns } from './question/columns.js'

searchColumns()
const explorer = document.getElementById('explorer-app')
if (explorer) startDatasetPage(explorer)
const ownerOrder = document.getElementById('owner-order')
if (ownerOrder instanceof HTMLFormElement) openOwnerOrder(ownerOrder)
const total = document.getElementById('order-total')
if (total) showTotals(total)
