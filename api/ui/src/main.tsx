import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./router";
import "./style.css";
import { apply, theme } from "./theme";

apply(theme());

// `always`: a console on localhost works without a network. Retries are shown to the person, so they are ours to make.
const client = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: "always", staleTime: 5_000 },
    mutations: { networkMode: "always" },
  },
});

const place = document.getElementById("weir");
if (!place) throw new Error("index.html lost its mount point");

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
