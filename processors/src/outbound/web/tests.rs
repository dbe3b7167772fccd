mod bodies;
mod manners;
mod pinning;
mod redirects;
mod table;
mod websockets;
mod world;
