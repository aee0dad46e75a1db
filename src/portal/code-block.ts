import { html } from './html.js'
import type { Html } from './html.js'
import type { PortalWords } from './portal-words-en.js'

/** Code with a copy button, which the script shows. */
export function codeBlock(words: PortalWords, text: string): Html {
  return html`<div class="code">
    <pre tabindex="0"><code>${text}</code></pre>
    <button type="button" class="copy" hidden>${words.copy}</button>
  </div>`
}
