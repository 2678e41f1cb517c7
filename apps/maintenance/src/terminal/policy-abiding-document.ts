let holders = 0;

/**
 * Makes the elements that this page's document creates keep to its Content-Security-Policy, for as long as a library
 * is at work that does not know of it: style elements carry the page's nonce, and a `style` attribute that is set by
 * its name goes the way that the policy allows. Returns what ends that.
 */
export function keepToPolicy(): () => void {
  holders++;
  if (holders === 1) shadowCreateElement();
  return () => {
    holders--;
    // The document's own method shows again.
    if (holders === 0) Reflect.deleteProperty(document, 'createElement');
  };
}

function shadowCreateElement(): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
  const createElement = document.createElement.bind(document);
  const create = (tag: string, options?: ElementCreationOptions): HTMLElement => {
    const element = createElement(tag, options);
    if (tag === 'style') element.nonce = nonce;
    else styleByProperty(element);
    return element;
  };
  Object.defineProperty(document, 'createElement', { value: create, configurable: true, writable: true });
}

function styleByProperty(element: HTMLElement): void {
  const setAttribute = element.setAttribute.bind(element);
  element.setAttribute = (name, value) => {
    if (name === 'style') element.style.cssText = value;
    else setAttribute(name, value);
  };
}
