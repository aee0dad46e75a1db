import './page.js'
import { startAccount } from './account/account-page.js'

const account = document.getElementById('account-app')
if (account) startAccount(account)
