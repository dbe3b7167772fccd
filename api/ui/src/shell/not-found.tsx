import { Link } from "@tanstack/react-router";

export function NotFound() {
  return (
    <div className="grid h-full place-items-center p-6">
      <div className="text-center">
        <p className="numbers text-soft">404</p>
        <h1 className="mt-1 text-lg font-semibold">No page lives at this address</h1>
        <p className="mt-1.5 text-soft">
          It may be a link into a newer Weir. Try the{" "}
          <Link to="/" className="text-accent underline">
            live tail
          </Link>{" "}
          or the{" "}
          <Link to="/projections" className="text-accent underline">
            projections
          </Link>
          .
        </p>
      </div>
    </div>
  );
}
