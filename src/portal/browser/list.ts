import './page.js'
import { startList } from './list/list-page.js'

const place = document.getElementById('list-app')
if (place) startList(place)
