// Keeps forms from being sent twice, and disables the worst buttons until the name is typed.

for (const form of document.querySelectorAll('form')) {
  let isSent = false
  form.addEventListener('submit', event => {
    const button = /** @type {HTMLButtonElement | null} */ (event.submitter)
    // What goes to a frame leaves the page as it is.
    if (button?.formTarget) return
    if (isSent) event.preventDefault()
    isSent = true
  })
  // A page that comes back from the history can be sent again.
  addEventListener('pageshow', () => {
    isSent = false
  })
  const typed = /** @type {HTMLInputElement | null} */ (form.querySelector('input[data-typed]'))
  const button = form.querySelector('button.danger')
  if (typed === null || button === null) continue
  const look = () => button.toggleAttribute('disabled', typed.value.trim() !== typed.dataset.typed)
  typed.addEventListener('input', look)
  look()
}
