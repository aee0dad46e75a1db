/** Shows the total of an order while plans and months are chosen: the server computes it. */
export function showTotals(total: HTMLElement): void {
  const form = total.closest('form')
  if (!form) return
  document.getElementById('show-total')?.remove()
  let latest = 0
  form.addEventListener('change', () => {
    const turn = (latest += 1)
    void totalOf(form).then((shown) => {
      if (turn === latest) total.replaceChildren(...shown)
    })
  })
}

/** Nothing where the server does not answer: the next page shows the total. */
async function totalOf(form: HTMLFormElement): Promise<readonly Node[]> {
  const fields = new URLSearchParams({ total: 'show' })
  for (const select of form.querySelectorAll('select')) fields.append(select.name, select.value)
  try {
    const answer = await fetch(form.action, { method: 'POST', body: fields })
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    return [...(page.getElementById('order-total')?.childNodes ?? [])]
  } catch {
    return []
  }
}
