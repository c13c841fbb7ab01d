// Lets rows of an ordered table be dragged: its form is sent with the new place and the id of the row.

for (const form of document.querySelectorAll('form.ordered')) {
  const marks = [...form.querySelectorAll('[data-rule]')]
  const rows = marks.map(mark => mark.closest('tr'))
  /** @type {number | null} */
  let from = null
  for (const [i, row] of rows.entries()) {
    const grip = document.createElement('span')
    grip.className = 'grip'
    grip.draggable = true
    grip.title = 'Drag to another place'
    grip.textContent = '⠿'
    grip.setAttribute('aria-hidden', 'true')
    marks[i]?.prepend(grip)
    grip.addEventListener('dragstart', event => {
      from = i
      if (row !== null) event.dataTransfer?.setDragImage(row, 0, 0)
    })
    grip.addEventListener('dragend', () => {
      from = null
    })
    row?.addEventListener('dragover', event => {
      if (from === null) return
      event.preventDefault()
      row.classList.toggle('target', from !== i)
    })
    row?.addEventListener('dragleave', () => row.classList.remove('target'))
    row?.addEventListener('drop', event => {
      event.preventDefault()
      row.classList.remove('target')
      if (from !== null && from !== i)
        send(form, `${marks[i]?.getAttribute('data-place')} ${marks[from]?.getAttribute('data-rule')}`)
    })
  }
}

/**
 * @param {Element} form
 * @param {string} move
 */
function send(form, move) {
  const field = document.createElement('input')
  field.type = 'hidden'
  field.name = 'move'
  field.value = move
  form.append(field)
  if (form instanceof HTMLFormElement) form.submit()
}
