type Attributes = Readonly<Record<string, string | number | boolean | null>>
type Child = Node | string | null

/**
 * Creates an element. Strings become text, never markup. An attribute that is false or null is
 * omitted.
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

/** Creates an SVG element, with the same rules as `element`. */
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

/** What a button or a form does; it reports its failures itself. */
type Act = () => void | Promise<void>

/** Creates a button that calls `act`. */
export function button(text: string, act: Act, attributes: Attributes = {}) {
  const made = element('button', { type: 'button', ...attributes }, text)
  made.addEventListener('click', () => {
    void act()
  })
  return made
}

/** Calls `act` when the form is submitted; the page stays. */
export function onSubmit(form: HTMLFormElement, act: Act): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void act()
  })
}

/** Fires the `input` event that typing would fire, so that the surrounding form updates. */
export function sayChanged(inside: HTMLElement): void {
  inside.dispatchEvent(new Event('input', { bubbles: true }))
}

/** Code with a copy button, which `enableCopying` connects. */
export function copyable(code: HTMLElement, copy: string): HTMLElement {
  return element(
    'div',
    { class: 'code' },
    element('pre', { tabindex: 0 }, code),
    element('button', { type: 'button', class: 'copy' }, copy),
  )
}
