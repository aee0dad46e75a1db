import { keepAccountToken } from './account-token.js'
import { enableCopying } from './copy.js'
import { showTotals } from './order-total.js'
import { openOwnerOrder } from './owner-order.js'

// What every page has; alone it is the script of pages that are alive without more.

enableCopying(document)
followFragment()
const ownerOrder = document.getElementById('owner-order')
if (ownerOrder instanceof HTMLFormElement) openOwnerOrder(ownerOrder)
const total = document.getElementById('order-total')
if (total) showTotals(total)
keepAccountToken()
sendFormsOnce()

/** The sign-in leads back to what the page shows, which is in a part of its address not sent. */
function followFragment(): void {
  const link = document.querySelector<HTMLAnchorElement>('a.person')
  link?.addEventListener('click', () => {
    link.href = link.href.replace(/(%23.*)?$/, encodeURIComponent(location.hash))
  })
}

/** The answer to the second click of a double click would take the place of the first one. */
function sendFormsOnce(): void {
  const doubleClickMs = 1000
  let sentMs = -Infinity
  document.addEventListener('submit', (event) => {
    if (event.timeStamp - sentMs < doubleClickMs) event.preventDefault()
    else sentMs = event.timeStamp
  })
}
