// What is wider than the page fades at its right edge, until it is scrolled to the end.
function fade(box) {
  const hidden = box.scrollWidth - box.clientWidth - box.scrollLeft;
  box.classList.toggle("more-to-the-right", hidden > 2);
}

window.addEventListener("load", () => {
  for (const box of document.querySelectorAll(".pst-scrollable-table-container, .bd-article pre")) {
    box.addEventListener("scroll", () => fade(box), { passive: true });
    new ResizeObserver(() => fade(box)).observe(box);
    fade(box);
  }
});

// The recorded page of the studio tells how high it is.
window.addEventListener("message", ({ source, data }) => {
  for (const frame of document.querySelectorAll("iframe"))
    if (source === frame.contentWindow && data && data.nrmHeight > 0) frame.style.height = `${data.nrmHeight + 8}px`;
});
