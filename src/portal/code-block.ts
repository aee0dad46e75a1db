import { html } from './html.js'
import type { Html } from './html.js'
import type { Words } from './portal-words-en.js'

/** Code with a button that copies it, which the script shows. */
export function codeBlock(words: Words, text: string): Html {
  return html`<div class="code">
    <pre tabindex="0"><code>${text}</code></pre>
    <button type="button" class="copy" hidden>${words.copy}</button>
  </div>`
}
