type Attributes = Readonly<Record<string, string | number | boolean | null>>
type Child = Node | string | null

/**
 * Makes an element. Texts become text, never markup; an attribute that is false or null is left
 * out.
 */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  fill(made, attributes, children)
  return made
}

/** The same for a picture. */
export function svgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  fill(made, attributes, children)
  return made
}

function fill(made: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) made.setAttribute(key, value === true ? '' : `${value}`)
  }
  made.append(...children.filter((child) => child !== null))
}

/** A button that does this. */
export function button(text: string, act: () => void, attributes: Attributes = {}) {
  const made = element('button', { type: 'button', ...attributes }, text)
  made.addEventListener('click', act)
  return made
}

/** Tells the form around, as typing would, that something in it is another now. */
export function sayChanged(inside: HTMLElement): void {
  inside.dispatchEvent(new Event('input', { bubbles: true }))
}
