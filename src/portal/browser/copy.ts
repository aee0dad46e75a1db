import { words } from './page-words.js'

const thanksMs = 2000

/** Enables the copy buttons in this part of the page. */
export function enableCopying(part: ParentNode): void {
  for (const copy of part.querySelectorAll<HTMLButtonElement>('.code > .copy')) {
    copy.hidden = false
    copy.setAttribute('aria-live', 'polite')
    copy.addEventListener('click', () => {
      void copyFrom(copy)
    })
  }
}

async function copyFrom(copy: HTMLButtonElement): Promise<void> {
  const code = copy.parentElement?.querySelector('code')
  if (!code) return
  try {
    await navigator.clipboard.writeText(code.textContent)
    copy.textContent = words.copied
  } catch {
    // Without https a page may not write to the clipboard.
    getSelection()?.selectAllChildren(code)
    copy.textContent = words.selected
  }
  setTimeout(() => {
    copy.textContent = words.copy
  }, thanksMs)
}
