// Adds a button to each value that is there to be copied. Without script, one click selects all of it.

/** @param {ParentNode} root */
function enhance(root) {
  for (const value of root.querySelectorAll('[data-copy]')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'plain small copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      button.textContent = (await copied(value)) ? 'Copied' : 'Press Ctrl+C'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2000)
    })
    value.after(button)
  }
}

/**
 * The clipboard is closed to pages over plain HTTP; what is selected there can be copied still.
 * @param {Element} value
 */
async function copied(value) {
  try {
    await navigator.clipboard.writeText(value.textContent ?? '')
    return true
  } catch {
    getSelection()?.selectAllChildren(value)
    return document.execCommand('copy')
  }
}

enhance(document)
document.addEventListener('swapped', ({ target }) => enhance(/** @type {Element} */ (target)))
