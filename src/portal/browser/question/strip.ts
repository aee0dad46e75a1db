/** Indexes from the first one to before the last one. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface Strip<Piece> {
  /** Shows the items of a span, and only these. */
  readonly show: (span: Span) => void
  readonly pieces: () => Iterable<Piece>
}

/**
 * Shows some of many items after an element, each as a piece of its own. A piece that stays is not
 * moved: a selection in it stays, too.
 */
export function strip<Item, Piece extends { readonly node: Element }>(
  items: readonly Item[],
  before: Element,
  make: (item: Item, index: number) => Piece,
): Strip<Piece> {
  const shown = new Map<number, Piece>()
  return {
    pieces: () => shown.values(),
    show: ({ from, to }) => {
      for (const [index, { node }] of shown) {
        if (index >= from && index < to) continue
        node.remove()
        shown.delete(index)
      }
      let last = before
      for (const [place, item] of items.slice(from, to).entries()) {
        const index = from + place
        const piece = shown.get(index) ?? make(item, index)
        shown.set(index, piece)
        if (last.nextElementSibling !== piece.node) last.after(piece.node)
        last = piece.node
      }
    },
  }
}
