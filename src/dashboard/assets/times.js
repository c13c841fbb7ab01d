// Writes each time in the zone of the viewer, with the exact one to be seen by hovering.

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const toSeconds = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** @param {ParentNode} root */
function enhance(root) {
  for (const time of root.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    time.title = at.toISOString()
    const isToSeconds = /:\d\d:\d\d/.test(time.textContent ?? '')
    time.textContent = (isToSeconds ? toSeconds : format).format(at)
  }
}

enhance(document)
document.addEventListener('swapped', ({ target }) => enhance(/** @type {Element} */ (target)))
