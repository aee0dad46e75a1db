import { enableCopying } from './copy.js'
import { startDatasetPage } from './dataset/dataset-page.js'
import { searchColumns } from './question/columns.js'
import { startAccount } from './account/account-page.js'

enableCopying(document)
followFragment()
searchColumns()
const explorer = document.getElementById('explorer-app')
if (explorer) startDatasetPage(explorer)
const account = document.getElementById('account-app')
if (account) startAccount(account)

/** The sign-in leads back to what the page shows, which is in a part of its address not sent. */
function followFragment(): void {
  const link = document.querySelector<HTMLAnchorElement>('a.person')
  link?.addEventListener('click', () => {
    link.href = link.href.replace(/(%23.*)?$/, encodeURIComponent(location.hash))
  })
}
