import { dayMs } from '../clock.js'

/** How long an order waits for its payment. */
export const orderLifeMs = 14 * dayMs
export const waitingOrdersPerEmailMax = 10
export const ordersPerEmailAndDayMax = 20
/** Orders that were never paid are removed this long after their end. */
export const unpaidOrderKeptMs = 90 * dayMs
/** Datasets in one order. */
export const orderItemsMax = 50
/** Months that a free plan is given for, at each order or renewal. */
export const freeMonths = 12
