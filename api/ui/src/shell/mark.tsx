/** The weir: two levels of water and the sill between them. */
export function Mark({ size = 18 }: { size?: number }) {
  return (
    <svg
      aria-hidden
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      className="shrink-0 text-accent"
    >
      <path d="M2 7h7c3.500 0 3.500 9 7 9h6" />
      <path d="M2 12h4.500c3 0 2.500 7.500 6 7.500" opacity=".5" />
      <path d="M12.500 3.500v17" strokeWidth="2.600" />
    </svg>
  );
}
