// Removes the message from the address of the page: a reload or a bookmark would show it again.

const url = new URL(location.href)
if (url.searchParams.has('done')) {
  url.searchParams.delete('done')
  history.replaceState(history.state, '', url)
}
