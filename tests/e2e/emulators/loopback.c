/* Loaded before a server that always binds to every address (local-slack has no setting for it): what it binds so is
   bound to 127.0.0.1 instead, so that a test opens nothing to the network. The test builds it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

int bind(int socket, const struct sockaddr *address, socklen_t length) {
    int (*as_it_is)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
    if (address && address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof four);
        if (four.sin_addr.s_addr == htonl(INADDR_ANY)) {
            four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            return as_it_is(socket, (struct sockaddr *)&four, sizeof four);
        }
    }
    if (address && address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
        static const unsigned char mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof six);
        if (IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr)) {
            memcpy(&six.sin6_addr, mapped, sizeof mapped);
            return as_it_is(socket, (struct sockaddr *)&six, sizeof six);
        }
    }
    return as_it_is(socket, address, length);
}
