// Focuses the search of the frame with the key `/`, and shows results while words are typed.

const form = document.querySelector('form.find')
const input = form?.querySelector('input')

if (form instanceof HTMLFormElement && input) {
  const list = document.createElement('div')
  list.className = 'found'
  list.setAttribute('role', 'region')
  list.setAttribute('aria-label', 'Search results')
  list.setAttribute('aria-live', 'polite')
  list.hidden = true
  form.append(list)

  let timer = 0
  let controller = new AbortController()
  const close = () => {
    clearTimeout(timer)
    controller.abort()
    list.hidden = true
  }

  const find = async () => {
    controller = new AbortController()
    const { signal } = controller
    const address = `${form.action}?${new URLSearchParams({ q: input.value })}`
    const response = await fetch(address, { redirect: 'error', signal }).catch(() => null)
    if (signal.aborted) return
    const text = response?.ok ? await response.text() : ''
    if (signal.aborted) return
    const results = new DOMParser().parseFromString(text, 'text/html').getElementById('found')
    if (results === null) list.textContent = 'Press Enter to search.'
    else list.replaceChildren(...results.childNodes)
    list.hidden = false
  }

  input.addEventListener('input', () => {
    close()
    if (input.value.trim().length > 1) timer = setTimeout(find, 150)
  })

  form.addEventListener('keydown', event => {
    const links = [...list.querySelectorAll('a')]
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Escape') {
      close()
      input.focus()
    } else if (step !== 0 && !list.hidden && links.length > 0) {
      event.preventDefault()
      const at = links.findIndex(link => link.matches(':focus')) + step
      if (at < 0) input.focus()
      else links[Math.min(at, links.length - 1)]?.focus()
    }
  })
  form.addEventListener('focusout', event => {
    if (!(event.relatedTarget instanceof Node && form.contains(event.relatedTarget))) close()
  })

  document.addEventListener('keydown', event => {
    const { target } = event
    const isTyping =
      target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.closest('details')?.setAttribute('open', '')
    input.focus()
  })
}
