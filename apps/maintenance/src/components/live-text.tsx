/** Says each change of its text to a screen reader, politely, and shows nothing. */
export function LiveText({ children }: { readonly children: string }) {
  return (
    <div className="hidden" role="status" aria-live="polite">
      {children}
    </div>
  );
}
