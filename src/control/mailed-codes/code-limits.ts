const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** A code is accepted for this time. */
export const codeLifeMs = 10 * minuteMs
export const codeDigits = 8
/** After this many wrong tries a code is refused. */
export const codeTriesMax = 5
/** The window in which codes are counted; then they are removed. */
export const codeWindowMs = hourMs
export const codesPerEmailMax = 5
/** For a client's network and the wider ones around it: IPv4 /24 and /16, IPv6 /64, /56 and /48. */
export const codesPerNetworkMax = { narrow: 20, wider: 60, widest: 200 } as const
/** Of all visitors together: so many codes and letters are stored at most. */
export const codesMax = 1000
